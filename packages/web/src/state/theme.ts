import { browserStorage } from './browser-storage.ts'
import { Store } from './store.ts'

const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** The key of the theme that the user has chosen in this browser; absent: that of the system. */
const THEME = 'theme'

/** The chosen theme. */
export const theme = new Store<Theme>('system')

/** Shows the chosen theme; without one the page follows the system. */
export function applyTheme(): void {
  // Another tab may choose another one.
  addEventListener('storage', ({ key }) => key === THEME && showTheme())
  showTheme()
}

function showTheme(): void {
  const chosen = browserStorage.getItem(THEME)
  theme.set(THEMES.find((each) => each === chosen) ?? 'system')
  const { dataset } = document.documentElement
  if (theme.get() === 'system') delete dataset['theme']
  else dataset['theme'] = theme.get()
}

/** The theme after another one, in a circle. */
export function themeAfter(before: Theme): Theme {
  return THEMES[(THEMES.indexOf(before) + 1) % THEMES.length] ?? 'system'
}

/** Goes on to the next theme, and keeps it for later visits. */
export function switchTheme(): void {
  const next = themeAfter(theme.get())
  if (next === 'system') browserStorage.removeItem(THEME)
  else browserStorage.setItem(THEME, next)
  showTheme()
}
