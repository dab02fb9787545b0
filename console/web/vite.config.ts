/** Builds the pages of the console into `console/dist`. */
import { defineConfig } from 'vite'
import { NO_NONCE } from '../src/policies.ts'

/** Libraries mark modules for servers that render React. Modules of Node are only in code that no page uses. */
const EXPECTED = /"use client"|externalized for browser compatibility/

const STYLES = / *<link rel="stylesheet"[^>]*>\n/g

/** A style sheet in the head holds up the whole page, one in the body only what is below it: the text that is there first. */
const stylesBelowText = {
  name: 'styles-below-text',
  transformIndexHtml: {
    order: 'post' as const,
    handler: (html: string) =>
      html.replaceAll(STYLES, '').replace(/ *<\/body>/, (end) => `${(html.match(STYLES) ?? []).join('')}${end}`),
  },
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [stylesBelowText],
  build: {
    emptyOutDir: true,
    // Their licences have to be passed on with the libraries.
    license: { fileName: 'licenses.md' },
    // Chromium 123, Firefox 120 and Safari 17.5 have light-dark(), which the styles need.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // A script or style within the page would need its own permission.
    assetsInlineLimit: 0,
    // One small file at once: Vite does not load a style again that could not be loaded.
    cssCodeSplit: false,
    // Every browser of the target has it.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      onLog: (level, log, handle) => EXPECTED.test(log.message) || handle(level, log),
      // One file with all that the first page needs, instead of one for each set of pages that share something.
      output: { codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] } },
    },
  },
  html: { cspNonce: NO_NONCE },
})
