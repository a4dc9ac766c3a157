/** The key of the theme that the user has chosen in this browser. */
const THEME = 'theme'

/** Shows the chosen theme; without one the page follows the system. */
export function applyTheme(): void {
  // Another tab may choose another one.
  addEventListener('storage', ({ key }) => key === THEME && showTheme())
  showTheme()
}

function showTheme(): void {
  const chosen = localStorage.getItem(THEME)
  if (chosen !== null) document.documentElement.dataset['theme'] = chosen
}

/** Changes between light and dark, and keeps it for later visits. */
export function switchTheme(): void {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches
  const shown = document.documentElement.dataset['theme'] ?? (isDark ? 'dark' : 'light')
  localStorage.setItem(THEME, shown === 'dark' ? 'light' : 'dark')
  showTheme()
}
