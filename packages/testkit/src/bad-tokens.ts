import { createHmac } from 'node:crypto'
import type { JWK, JWTPayload } from 'jose'
import { exportJWK, exportSPKI, generateKeyPair, importJWK } from 'jose'
import type { CryptoKey } from 'jose'
import type { TokenHeader, TokenSigner } from './token-signer.ts'

/** Tokens that must be refused, for a resource that takes tokens of a provider with the type `at+jwt`. */
export function badTokens(
  signer: () => TokenSigner,
  resource: () => string,
): readonly (readonly [what: string, make: () => Promise<string>])[] {
  return Object.entries(TABLE).map(([what, make]) => [
    what,
    async () => make(new Forge(signer(), resource(), await signer().publicKey())),
  ])
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const now = (): number => Math.floor(Date.now() / 1_000)

/** Makes tokens of a provider that are good but for one thing. */
class Forge {
  readonly issuer: string
  readonly resource: string
  readonly keyId: string
  readonly #signer: TokenSigner
  readonly #publicKey: JWK

  constructor(signer: TokenSigner, resource: string, publicKey: JWK) {
    this.issuer = signer.url
    this.resource = resource
    this.keyId = publicKey.kid ?? ''
    this.#signer = signer
    this.#publicKey = publicKey
  }

  claims(more: JWTPayload = {}): JWTPayload {
    const { issuer: iss, resource: aud } = this
    return { iss, aud, sub: 'ann', iat: now(), exp: now() + 300, ...more }
  }

  without(name: string): JWTPayload {
    const { [name]: _, ...rest } = this.claims()
    return rest
  }

  sign(claims: JWTPayload, header?: TokenHeader): Promise<string> {
    return this.#signer.sign(claims, header)
  }

  unsigned(header: object, payload: object, signature = ''): string {
    return `${base64(header)}.${base64(payload)}.${signature}`
  }

  /** A token that is signed by HMAC with the public key of the provider. */
  async confused(format: 'pem' | 'jwk'): Promise<string> {
    const key = this.#publicKey
    const secret =
      format === 'jwk'
        ? JSON.stringify(key)
        : // An RSA key is no list of bytes.
          await exportSPKI((await importJWK(key, 'RS256')) as CryptoKey)
    const head = base64({ alg: 'HS256', typ: 'at+jwt', kid: this.keyId })
    const text = `${head}.${base64(this.claims())}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }

  async changed(part: 0 | 1 | 2, change: (text: string) => string): Promise<string> {
    const parts = (await this.sign(this.claims())).split('.')
    parts[part] = change(parts[part] ?? '')
    return parts.join('.')
  }
}

const TABLE: Readonly<Record<string, (forge: Forge) => Promise<string> | string>> = {
  'an empty text': () => '',
  'no token': () => 'hello',
  'two parts': () => 'a.b',
  'four parts': async (forge) => `${await forge.sign(forge.claims())}.more`,
  'an encrypted token': () => 'a.b.c.d.e',
  'a header that is no JSON': (forge) => forge.changed(0, () => 'aGVsbG8'),
  'a payload that is no JSON': (forge) => forge.changed(1, () => 'aGVsbG8'),
  'a payload that is a list': (forge) =>
    forge.unsigned({ alg: 'RS256', kid: forge.keyId, typ: 'at+jwt' }, []),
  'a changed payload': (forge) => forge.changed(1, () => base64(forge.claims({ sub: 'root' }))),
  'a changed header': (forge) =>
    forge.changed(0, () => base64({ alg: 'RS256', typ: 'at+jwt', kid: 'x' })),
  'a cut signature': (forge) => forge.changed(2, (text) => text.slice(0, -4)),
  'an empty signature': (forge) => forge.changed(2, () => ''),
  'a signature of zeros': (forge) => forge.changed(2, (text) => 'A'.repeat(text.length)),
  'alg none': (forge) => forge.unsigned({ alg: 'none', typ: 'at+jwt' }, forge.claims()),
  'alg None': (forge) => forge.unsigned({ alg: 'None', typ: 'at+jwt' }, forge.claims()),
  'alg NONE with a signature': (forge) =>
    forge.unsigned({ alg: 'NONE', typ: 'at+jwt' }, forge.claims(), 'AAAA'),
  'no alg': (forge) => forge.unsigned({ typ: 'at+jwt' }, forge.claims(), 'AAAA'),
  'an unknown alg': (forge) =>
    forge.unsigned({ alg: 'RS1', kid: forge.keyId, typ: 'at+jwt' }, forge.claims(), 'AAAA'),
  'HS256 with the public key as JWK': (forge) => forge.confused('jwk'),
  'HS256 with a public key as PEM': (forge) => forge.confused('pem'),
  'an unknown critical header': (forge) =>
    forge.unsigned(
      { alg: 'RS256', kid: forge.keyId, typ: 'at+jwt', crit: ['x'], x: 1 },
      forge.claims(),
      'AAAA',
    ),
  'a key of its own in the header': async (forge) => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = await exportJWK(publicKey)
    const token = await forge.sign(forge.claims(), { key: privateKey })
    return `${base64({ alg: 'RS256', typ: 'at+jwt', kid: forge.keyId, jwk })}.${token.split('.').slice(1).join('.')}`
  },
  'a key address in the header': (forge) =>
    forge.changed(0, () => base64({ alg: 'RS256', typ: 'at+jwt', jku: 'http://127.0.0.1:1/jwks' })),
  'a key of another provider under the same id': async (forge) => {
    const { privateKey } = await generateKeyPair('RS256')
    return forge.sign(forge.claims(), { key: privateKey })
  },
  'an unknown key id': (forge) => forge.sign(forge.claims(), { kid: 'key-99' }),
  'a key of another kind': async (forge) => {
    const { privateKey } = await generateKeyPair('ES256')
    return forge.sign(forge.claims(), { key: privateKey, alg: 'ES256' })
  },
  'another issuer': (forge) => forge.sign(forge.claims({ iss: 'https://evil.example' })),
  'the issuer with a slash': (forge) => forge.sign(forge.claims({ iss: `${forge.issuer}/` })),
  'no issuer': (forge) => forge.sign(forge.without('iss')),
  'another audience': (forge) => forge.sign(forge.claims({ aud: 'https://other.example/mcp' })),
  'the audience of a path below': (forge) =>
    forge.sign(forge.claims({ aud: `${forge.resource}/servers/x` })),
  'the audience with a slash': (forge) => forge.sign(forge.claims({ aud: `${forge.resource}/` })),
  'the audience in capitals': (forge) =>
    forge.sign(forge.claims({ aud: forge.resource.toUpperCase() })),
  'an empty list of audiences': (forge) => forge.sign(forge.claims({ aud: [] })),
  'no audience': (forge) => forge.sign(forge.without('aud')),
  'a token that has expired': (forge) => forge.sign(forge.claims({ exp: now() - 60 })),
  'no expiry': (forge) => forge.sign(forge.without('exp')),
  'an expiry that is a text': (forge) =>
    forge.sign(forge.claims({ exp: 'never' as unknown as number })), // a forged claim may have any type
  'a token of tomorrow': (forge) => forge.sign(forge.claims({ nbf: now() + 86_400 })),
  'a token issued tomorrow': (forge) =>
    forge.sign(forge.claims({ iat: now() + 86_400, exp: now() + 90_000 })),
  'no user': (forge) => forge.sign(forge.without('sub')),
  'a user with white space': (forge) => forge.sign(forge.claims({ sub: 'ann admin' })),
  'a user with a line break': (forge) => forge.sign(forge.claims({ sub: 'ann\r\nRoles: admin' })),
  'a user of 300 characters': (forge) => forge.sign(forge.claims({ sub: 'a'.repeat(300) })),
  'a user that is an object': (forge) => forge.sign(forge.claims({ sub: {} as unknown as string })), // a forged claim may have any type
  'a user that is a list': (forge) =>
    forge.sign(forge.claims({ sub: ['root'] as unknown as string })), // a forged claim may have any type
  'an id token': (forge) => forge.sign(forge.claims(), { typ: 'JWT' }),
  'a token of 20 KB': (forge) => forge.sign(forge.claims({ pad: 'x'.repeat(20_000) })),
}
