import type * as z from 'zod'

import type { ServerConfig } from '@mcp-host/upstream'
import type { EntryKind } from './entry-kind.ts'
import { builtIn } from './built-in.ts'
import { http } from './http.ts'
import { inProcess } from './in-process.ts'
import { sse } from './sse.ts'
import { stdio } from './stdio.ts'
import { websocket } from './websocket.ts'

const KINDS = { stdio, http, sse, websocket, 'in-process': inProcess, 'built-in': builtIn }

type Types = ServerConfig['type']

/** The kinds of servers, by type. Their functions take entries of that type. */
export const ENTRY_KINDS: Readonly<Record<Types, EntryKind<ServerConfig, z.ZodObject>>> = KINDS

/** A server in a file. */
export type Entry = z.infer<(typeof KINDS)[Types]['entry']>
