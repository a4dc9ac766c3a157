import type { Transport } from '@modelcontextprotocol/client'

import type { Environment, Guardian, Logger } from '@mcp-host/process'
import type { Intake } from '../intake/intake.ts'
import type { MessageLimits } from '../intake/message-limits.ts'
import type { AuthDeps } from '../auth/auth-strategy.ts'
import type { ServeBuiltIn } from './serve-built-in.ts'
import type { UserLogins } from '../auth/oauth/user-logins.ts'
import type { LeftOut } from '../metrics/host-metrics.ts'
import type { ProxyFor } from '../proxy/proxy-for.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { ProcessOutput } from './process-output.ts'

/** A child process or an address, for one connection. */
export interface Endpoint {
  readonly transport: Transport
  /** Applies the limits of the server's messages. */
  readonly intake: Intake
  /** Whether messages go through the standard streams of a process. */
  readonly isPipe: boolean
  /** The pid of the server's process, from its start on. */
  readonly pid: number | undefined
  /** Why the connection ended, such as `exited with code 1`; undefined while it is open. */
  readonly closeReason: string | undefined
  /** The exit code of a process that ended by itself before `close`; null when a signal ended it. */
  readonly exitCode: number | null | undefined
  /** Ends the connection, and a process with all its descendants. Never throws. */
  close(): Promise<void>
}

export interface EndpointDeps {
  readonly guardian: Guardian
  readonly logger: Logger
  readonly env: Environment
  readonly sandbox: Sandbox
  readonly proxyFor: ProxyFor
  readonly logins?: UserLogins | undefined
  /** Connects built-in servers; absent in a host without them. */
  readonly builtIn?: ServeBuiltIn | undefined
  /** Receives each token of the server before its first use, to be masked. */
  readonly onToken: (token: string) => void
  /** Called when a token of the server was asked for. */
  readonly onAsked?: AuthDeps['onAsked']
  /** Receives the output of a process outside of the protocol. */
  readonly output: ProcessOutput
  readonly limits: MessageLimits
  /** Called for each dropped message. */
  readonly onLeftOut: (what: keyof LeftOut, count?: number) => void
}

export interface EndpointOptions {
  /** The name of the server. */
  readonly name: string
  /** The time limit for the end of a process before it is killed, in milliseconds. */
  readonly graceMs: number
}
