import type { Tool } from '@mcp-host/client'

/** A higher app scrolls in its frame. */
export const MAX_HEIGHT = 640

const DARK = '(prefers-color-scheme: dark)'

/** What an app knows of the page around it. */
export function hostContext(tool: Tool, width: number): object {
  return {
    toolInfo: { tool },
    theme: themeNow(),
    displayMode: 'inline',
    availableDisplayModes: ['inline'],
    containerDimensions: dimensions(width),
    locale: navigator.language,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    platform: 'web',
    userAgent: 'mcp-host',
  }
}

/** Calls back with the parts of the context that change. Returns a function that ends it. */
export function watchContext(
  frame: HTMLIFrameElement,
  onChange: (part: object) => void,
): () => void {
  const scheme = matchMedia(DARK)
  const onTheme = (): void => onChange({ theme: themeNow() })
  scheme.addEventListener('change', onTheme)
  let width = frame.clientWidth
  const observer = new ResizeObserver(() => {
    if (frame.clientWidth === width) return
    width = frame.clientWidth
    onChange({ containerDimensions: dimensions(width) })
  })
  observer.observe(frame)
  return () => {
    scheme.removeEventListener('change', onTheme)
    observer.disconnect()
  }
}

function themeNow(): 'light' | 'dark' {
  return matchMedia(DARK).matches ? 'dark' : 'light'
}

function dimensions(width: number): object {
  return { width, maxHeight: MAX_HEIGHT }
}
