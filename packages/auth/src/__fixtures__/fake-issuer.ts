import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CryptoKey, JWK, JWTPayload } from 'jose'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** An identity provider that signs any claims for a test. */
export interface FakeIssuer extends AsyncDisposable {
  readonly url: string
  readonly publicKey: () => Promise<JWK>
  readonly sign: (claims: JWTPayload, header?: SignHeader) => Promise<string>
  /** Requests for its keys so far. */
  readonly keyRequests: () => number
  /** Answers nothing but errors from now on, or again as before. */
  readonly break: (isBroken: boolean) => void
  /** Replaces its key; tokens of the old one are not valid any more. */
  readonly rotate: () => Promise<void>
}

interface SignHeader {
  readonly alg?: string
  readonly kid?: string
  readonly typ?: string
  readonly key?: CryptoKey
}

export async function fakeIssuer(): Promise<FakeIssuer> {
  let round = 0
  let pair = await generateKeyPair('RS256')
  let isBroken = false
  let keyRequests = 0
  const kid = (): string => `key-${round}`
  const publicKey = async (): Promise<JWK> => ({
    ...(await exportJWK(pair.publicKey)),
    kid: kid(),
    alg: 'RS256',
    use: 'sig',
  })
  const server = createServer((request, response) => {
    void (async () => {
      if (isBroken) return response.writeHead(500).end('down')
      response.setHeader('content-type', 'application/json')
      if (request.url === '/.well-known/openid-configuration') {
        return response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/jwks` }))
      }
      if (request.url !== '/jwks') return response.writeHead(404).end('{}')
      keyRequests += 1
      return response.end(JSON.stringify({ keys: [await publicKey()] }))
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    publicKey,
    keyRequests: () => keyRequests,
    break: (now) => (isBroken = now),
    async rotate() {
      round += 1
      pair = await generateKeyPair('RS256')
    },
    sign(claims, { alg = 'RS256', kid: id = kid(), typ = 'at+jwt', key = pair.privateKey } = {}) {
      return new SignJWT(claims).setProtectedHeader({ alg, kid: id, typ }).sign(key)
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
