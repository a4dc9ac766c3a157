/** Signs a text: at least 16 hexadecimal digits, with a secret that all gateways share. */
export type SignSession = (text: string) => string

/** The length of each half of an id: the first is random, the second its signature. */
const HALF = 16

/** A new unguessable id of 32 hexadecimal digits. */
export function signedId(sign: SignSession): string {
  const random = crypto.randomUUID().replaceAll('-', '').slice(-HALF)
  return random + sign(random).slice(0, HALF)
}

/** Whether a gateway has issued an id. */
export function isSigned(id: string, sign: SignSession): boolean {
  return id.length === 2 * HALF && sign(id.slice(0, HALF)).slice(0, HALF) === id.slice(HALF)
}
