/** Handler of keys that closes something on Escape, which then does nothing else in the page. */
export function onEscape(close: () => void): (event: React.KeyboardEvent) => void {
  return (event) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    close()
  }
}
