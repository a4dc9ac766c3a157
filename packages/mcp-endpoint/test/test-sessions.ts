import { LOCAL } from '@mcp-host/contracts'
import type { Params } from '../src/messages/json-rpc.ts'
import type { ClientSession } from '../src/sessions/session.ts'
import * as session from '../src/sessions/session.ts'

/** Signs without a secret, so that tests share session ids, and without Node.js. */
export function signSession(text: string): string {
  let [one, other] = [0x81_1c_9d_c5, 0x12_34_56_78]
  for (const character of text) {
    one = Math.imul(one ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93)
    other = Math.imul(other ^ one, 0x5b_d1_e9_95)
  }
  return [one, other].map((each) => (each >>> 0).toString(16).padStart(8, '0')).join('')
}

/** As the endpoint does for the local principal. */
const signLocal = (text: string): string => signSession(`mcp\n${LOCAL.id}\n${text}`)

export const newSession = (capabilities: Params): string =>
  session.newSession(capabilities, signLocal)

export const readSession = (sessionId: string): ClientSession | undefined =>
  session.readSession(sessionId, signLocal)
