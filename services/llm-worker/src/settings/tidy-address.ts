/** What follows the address of an API in the address of one of its requests, which documents of providers often give. */
const REQUEST =
  /\/+(?:chat\/completions|completions|responses|messages|models|api(?:\/(?:chat|generate|tags))?)$/

/** The address of an API, from one with a request of it, slashes at its end, or no `http://`. */
export function tidyAddress(address: string): string {
  const whole = /^[a-z]+:\/\//i.test(address) ? address : `http://${address}`
  return whole.replace(/\/+$/, '').replace(REQUEST, '').replace(/\/+$/, '')
}
