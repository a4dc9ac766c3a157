import { existsSync, statSync } from 'node:fs'

import type { SandboxKind } from '../config/mcp-config.ts'
import { LaunchError } from '../process/launch.ts'
import { bwrapPrefix } from './bwrap-prefix.ts'

export interface SandboxPaths {
  /** Absolute paths of files and folders that no server sees. */
  readonly hidden: readonly string[]
  /** Absolute paths of files and folders that no server changes. */
  readonly readOnly: readonly string[]
}

/** Starts the processes of servers apart from the host; see `openSandbox`. */
export class Sandbox {
  /** The separation of servers whose entries name none. */
  readonly kind: SandboxKind
  /** Why the host cannot offer more, in words for an operator; undefined when it offers the strongest kind. */
  readonly lack: string | undefined
  readonly #paths: SandboxPaths
  /** The path of the program, if it works. */
  readonly #bwrap: string | undefined

  constructor(
    about: {
      readonly kind: SandboxKind
      readonly lack?: string
      readonly bwrap?: string | undefined
    },
    paths: SandboxPaths = { hidden: [], readOnly: [] },
  ) {
    this.kind = about.kind
    this.lack = about.lack
    this.#bwrap = about.bwrap
    this.#paths = paths
  }

  /**
   * The command line before a program; undefined for `none`. Throws `LaunchError` when the host does not offer `kind`.
   */
  prefix(kind: SandboxKind): readonly string[] | undefined {
    if (kind === 'none') return undefined
    if (this.#bwrap === undefined) {
      throw new LaunchError(`"sandbox": "bwrap" is not possible here: ${this.lack}`)
    }
    // Missing paths would be created.
    const hidden = this.#paths.hidden.filter((path) => existsSync(path))
    return bwrapPrefix(this.#bwrap, {
      hiddenFolders: hidden.filter((path) => statSync(path).isDirectory()),
      hiddenFiles: hidden.filter((path) => !statSync(path).isDirectory()),
      readOnly: this.#paths.readOnly.filter((path) => existsSync(path)),
    })
  }
}

/** The sandbox of applications that open none. */
export const NO_SANDBOX = new Sandbox({
  kind: 'none',
  lack: 'the application has opened no sandbox',
})
