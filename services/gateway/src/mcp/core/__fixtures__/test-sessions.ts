import type { Params } from '../json-rpc.ts'
import type { ClientSession } from '../session.ts'
import * as session from '../session.ts'

/** Signs without a secret, so that tests share session ids. */
const signSession = (random: string): string => random

export const newSession = (capabilities: Params): string =>
  session.newSession(capabilities, signSession)

export const readSession = (sessionId: string): ClientSession | undefined =>
  session.readSession(sessionId, signSession)
