/** Parses the address of a page. Throws for one that is not fetched whatever host it names. */
export function checkedUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url === null) throw new Error('the address is no URL; give an absolute one with https://')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`addresses with ${url.protocol} are not fetched, only those with https:`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('addresses with a user or a password are not fetched')
  }
  return url
}
