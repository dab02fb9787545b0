/** Opens the viewer on the document. What is tried goes to the base path that the page was opened under. */

const baseUrl = new URL('.', location.href).href.replace(/\/$/, '')

// Without the viewer, the list of operations stays. With it, the list would be taken for what a server rendered.
if (window.Scalar) document.querySelector('#reference').replaceChildren()
window.Scalar?.createApiReference('#reference', {
  url: `${baseUrl}/openapi.json`,
  servers: [{ url: baseUrl }],
  // A key is forgotten when the page is closed.
  persistAuth: false,
  // Nothing is fetched from another place, and nothing is sent there.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
})
