import type { Guardian } from 'mcp-host/process'

/** What a blast may reach of the host under test. */
export interface BlastTarget {
  /** Of the gateway, without a path. */
  readonly url: string
  readonly guardian: Guardian
  /** A flood of connections is sent to this port instead, which discards it. */
  readonly sinkPort?: number
  /** Adds an entry to the `mcp.json`, which the host takes up by itself. */
  readonly addServer: (name: string, entry: object) => Promise<void>
}

/** One way to harm the host. */
export interface Blast {
  /** The service that it is aimed at, whose memory is watched. */
  readonly victim: 'gateway' | 'mcp-supervisor'
  /**
   * Goes on until the signal; resolves to the beginning of the last answer that it got. Refusals are no errors: it
   * throws only when it could not begin.
   */
  readonly strike: (target: BlastTarget, signal: AbortSignal) => Promise<string>
}
