import type { Principal, SessionId } from '@mcp-host/contracts'
import { isSigned, signedId, type SignSession } from '@mcp-host/mcp-endpoint'

type Maker = Pick<Principal, 'id'>

/** A new id of a chat. It belongs to its principal before the chat has a record or a message. */
export function newChatId(sign: SignSession, maker: Maker): SessionId {
  return signedId(signFor(sign, maker)) as SessionId
}

/** Whether a gateway has made this id for the principal. */
export function isChatIdOf(maker: Maker, session: SessionId, sign: SignSession): boolean {
  return isSigned(session, signFor(sign, maker))
}

function signFor(sign: SignSession, { id }: Maker): SignSession {
  return (text) => sign(`chat\n${id}\n${text}`)
}
