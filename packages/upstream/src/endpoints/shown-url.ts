const MAX_SHOWN_PART = 15

/** A server's address for errors, without its query and without parts of its path that may be secrets. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  const parts = pathname.split('/').map((part) => (part.length > MAX_SHOWN_PART ? '…' : part))
  return `${origin}${parts.join('/')}`
}
