import { BroughtTokens, BusError } from '@mcp-host/contracts'
import { compactDecrypt, importJWK } from 'jose'
import type { Account } from './account.ts'
import { type DerivedKey, deriveKey } from './derived-key.ts'

type Owner = Pick<Account, 'server' | 'principal' | 'label'>

/** Decrypts tokens that gateways pass on, which nobody else on the bus may read. */
export class TokenInbox {
  readonly #keys: readonly [DerivedKey, ...DerivedKey[]]

  /** Gateways use the first key. */
  constructor([first, ...others]: readonly [Buffer, ...Buffer[]]) {
    this.#keys = [inboxKeyOf(first), ...others.map(inboxKeyOf)]
  }

  get key(): DerivedKey['public'] {
    return this.#keys[0].public
  }

  /** Throws `invalid` for tokens of another owner, or what is none. */
  async open(sealed: string, { server, principal, label }: Owner): Promise<BroughtTokens> {
    try {
      const { plaintext } = await compactDecrypt(sealed, ({ kid }) => this.#keyOf(kid))
      const value: unknown = JSON.parse(new TextDecoder().decode(plaintext))
      const owner = Object(value)
      if (owner.server !== server || owner.principal !== principal || owner.label !== label) {
        throw new Error('they are for another account')
      }
      return BroughtTokens.parse(value)
    } catch (cause) {
      throw new BusError('invalid', 'the tokens cannot be read', { cause })
    }
  }

  async #keyOf(kid: string | undefined): ReturnType<typeof importJWK> {
    const { public: key, d } = this.#keys.find((each) => each.public.kid === kid) ?? this.#keys[0]
    return importJWK({ ...key, d }, 'ECDH-ES')
  }
}

function inboxKeyOf(key: Buffer): DerivedKey {
  return deriveKey(key, 'tokens of users', { use: 'enc', alg: 'ECDH-ES' })
}
