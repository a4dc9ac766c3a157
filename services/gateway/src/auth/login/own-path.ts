const OWN = 'http://own.invalid'

/** The path if it is one of this host, else `undefined`, so that a login never redirects to a foreign site. */
export function ownPath(path: string | undefined): string | undefined {
  // Browsers resolve paths in the same way: without tabs and line ends, with backslashes as slashes, and with folded dots.
  const url = path?.startsWith('/') === true ? URL.parse(path, OWN) : null
  // A folded path that begins with two slashes is the address of another host.
  if (url === null || url.origin !== OWN || url.pathname.startsWith('//')) return undefined
  return url.pathname + url.search
}
