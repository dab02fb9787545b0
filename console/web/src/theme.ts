/** Light, dark, or as the system says. The browser remembers it. */
const KEY = 'theme'
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export function readTheme(): Theme {
  const stored = localStorage.getItem(KEY)
  return THEMES.find((theme) => theme === stored) ?? 'system'
}

export function applyTheme(theme: Theme = readTheme()): void {
  localStorage.setItem(KEY, theme)
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
