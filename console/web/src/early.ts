/** The requests that `index.html` has started before the scripts were there. */

interface Early {
  readonly responses: Record<string, Promise<Response>>
  isOver: boolean
}

declare global {
  interface Window {
    readonly early?: Early
  }
}

/** @returns the response to a request that was started already; undefined from the first on that was not. */
export function takeEarly(url: string): Promise<Response> | undefined {
  const { early } = window
  if (!early || early.isOver) return undefined
  const path = url.slice(location.origin.length)
  const response = early.responses[path]
  delete early.responses[path]
  if (!response) early.isOver = true
  return response
}
