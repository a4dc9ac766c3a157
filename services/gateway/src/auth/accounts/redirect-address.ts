/** Whether a URL leads to a program on the computer of its user. */
export function isLoopback({ hostname }: URL): boolean {
  // The URL parser writes every form of an IPv4 address as four decimal numbers.
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}

/** The target of a redirect address, in words for users. */
export function describeRedirect(url: URL): string {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return `the program that this computer opens for ${url.protocol}// addresses`
  }
  return isLoopback(url) ? `a program on this computer (${url.host})` : url.host
}
