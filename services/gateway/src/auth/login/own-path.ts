/** The path if it is one of this host, else `undefined`, so that a login never redirects to a foreign site. */
export function ownPath(path: string | undefined): string | undefined {
  if (path === undefined || !path.startsWith('/') || /^\/[/\\]/.test(path)) return undefined
  const url = URL.parse(path, 'http://own.invalid')
  return url?.host === 'own.invalid' ? `${url.pathname}${url.search}` : undefined
}
