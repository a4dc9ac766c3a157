import { Agent, fetch as undiciFetch } from 'undici'

/** What all requests to providers share. How long an answer may take is not decided here. */
const agent = new Agent({
  connect: { timeout: 10_000 },
  headersTimeout: 0,
  bodyTimeout: 0,
  // Generations last long, and there are many of them at a time.
  connections: null,
})

/** As `fetch`, with the connections of this process to providers. */
// The same standard, declared once by Node.js and once by undici.
export const providerFetch = ((input: string, init: object = {}) =>
  undiciFetch(input, { ...init, dispatcher: agent })) as unknown as typeof fetch
