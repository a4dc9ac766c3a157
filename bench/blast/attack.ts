import type { Guardian } from '@mcp-host/process'

/** The parts of the host under test that an attack can reach. */
export interface AttackTarget {
  /** Base URL of the gateway. */
  readonly url: string
  readonly guardian: Guardian
  /** Replaces the port of the gateway by one that discards its input. */
  readonly sinkPort?: number
  /** Adds an entry to the `mcp.json`, which the host reloads. */
  readonly addServer: (name: string, entry: object) => Promise<void>
}

export interface Attack {
  /** The attacked service, whose memory is measured. */
  readonly victim: 'gateway' | 'mcp-supervisor'
  /** Attacks until the signal. Resolves with the beginning of the last reply. Throws only when it cannot begin. */
  readonly run: (target: AttackTarget, signal: AbortSignal) => Promise<string>
}
