import { SessionId } from '@mcp-host/contracts'
import { z } from 'zod'

/** The parameters of a route below one session. */
export const SessionParams = z.object({ id: SessionId.describe('Id of the session.') })
