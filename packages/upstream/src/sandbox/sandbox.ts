import { existsSync, realpathSync } from 'node:fs'

import type { SandboxConfig, SandboxKind } from '../server-config.ts'
import { LaunchError } from '@mcp-host/process'
import { bwrapPrefix } from './bwrap-prefix.ts'
import { mountsFor, type ProtectedPaths } from './protect-paths.ts'
import type { Separation } from './separation.ts'
import type { ServerUsers } from './server-users.ts'

/** What a machine offers to separate servers: for each kind its means, or what it lacks. */
export interface SandboxMeans {
  /** The path of the program. */
  readonly bwrap?: string
  readonly users?: ServerUsers
  /** In words for an operator. */
  readonly lacks: Readonly<Partial<Record<SandboxKind, string>>>
}

/** Starts the processes of servers apart from the host; see `openSandbox`. */
export class Sandbox {
  /** The separation of servers whose entries name none. */
  readonly kind: SandboxKind
  /** What the host lacks for a stronger kind, or for `kind`, in words for an operator; undefined when it lacks nothing. */
  readonly lack: string | undefined
  /** Paths that should be hidden, and that servers with a user of their own can read. */
  readonly open: readonly string[]
  readonly #means: SandboxMeans
  readonly #paths: ProtectedPaths

  constructor(
    {
      kind,
      lack,
      open = [],
    }: {
      readonly kind: SandboxKind
      readonly lack?: string | undefined
      readonly open?: readonly string[]
    },
    means: SandboxMeans,
    paths: ProtectedPaths = { hidden: [], readOnly: [], writable: [] },
  ) {
    this.kind = kind
    this.lack = lack
    this.open = open
    this.#means = means
    this.#paths = paths
  }

  /** For the next process of a server. Throws `LaunchError` when the host does not offer what `config` asks for. */
  enter(server: string, config: SandboxConfig = {}): Separation {
    const { kind = this.kind, network = true, roots } = config
    if (kind === 'bwrap') return { prefix: this.#bwrapPrefix({ network, roots }) }
    if (!network) throw new LaunchError(`"network": false needs "bwrap", and this is "${kind}"`)
    if (roots !== undefined) throw new LaunchError(`"roots" need "bwrap", and this is "${kind}"`)
    if (kind === 'none') return {}
    if (this.#means.users === undefined) throw this.#impossible('uid')
    return this.#means.users.enter(server)
  }

  #bwrapPrefix(about: {
    readonly network: boolean
    readonly roots: readonly string[] | undefined
  }): readonly string[] {
    if (this.#means.bwrap === undefined) throw this.#impossible('bwrap')
    const missing = about.roots?.find((path) => !existsSync(path))
    if (missing !== undefined) throw new LaunchError(`the root ${missing} does not exist`)
    return bwrapPrefix(this.#means.bwrap, {
      network: about.network,
      roots: about.roots?.map((path) => realpathSync(path)),
      mounts: mountsFor(this.#paths),
    })
  }

  #impossible(kind: SandboxKind): LaunchError {
    return new LaunchError(`"sandbox": "${kind}" is not possible here: ${this.#means.lacks[kind]}`)
  }
}

const NOT_OPENED = 'the application has opened no sandbox'

/** The sandbox of applications that open none. */
export const NO_SANDBOX = new Sandbox(
  { kind: 'none', lack: NOT_OPENED },
  { lacks: { bwrap: NOT_OPENED, uid: NOT_OPENED } },
)
