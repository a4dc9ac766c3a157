import type { Params } from '../json-rpc.ts'
import type { ClientSession } from '../session.ts'
import * as session from '../session.ts'

/** No secret: ids are the same for all tests. */
const signSession = (random: string): string => random

export const newSession = (capabilities: Params): string =>
  session.newSession(capabilities, signSession)

export const readSession = (sessionId: string): ClientSession | undefined =>
  session.readSession(sessionId, signSession)
