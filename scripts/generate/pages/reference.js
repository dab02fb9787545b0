/** Opens the viewer on the document. What is tried goes to the base path that the page was opened under. */

/** Where the API key is kept until this tab is closed. Each path that serves the page has its own. */
const STORED_KEY = `apiKey ${location.pathname}`
const baseUrl = new URL('.', location.href).href.replace(/\/$/, '')

const configuration = {
  url: `${baseUrl}/openapi.json`,
  servers: [{ url: baseUrl }],
  // The viewer would store the key in `localStorage`, which outlives the tab.
  persistAuth: false,
  authentication: withKey(sessionStorage.getItem(STORED_KEY) ?? ''),
  // Nothing is fetched from another place, and nothing is sent there.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
}

// Without the viewer, the list of operations stays. With it, the list would be taken for what a server rendered.
if (window.Scalar) document.querySelector('#reference').replaceChildren()
const viewer = window.Scalar?.createApiReference('#reference', configuration)

function keepKey({ target }) {
  if (target.placeholder !== 'Token') return
  if (target.value) return sessionStorage.setItem(STORED_KEY, target.value)
  sessionStorage.removeItem(STORED_KEY)
  // Otherwise the viewer fills an emptied field with the key that it began with.
  viewer.updateConfiguration({ ...configuration, authentication: withKey('') })
}
// Before the viewer gets the event.
document.addEventListener('input', keepKey, { capture: true })

function withKey(token) {
  return { securitySchemes: { apiKey: { token } } }
}
