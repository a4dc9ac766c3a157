import { createHash, randomInt } from 'node:crypto'
import { chownSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { groupTag, LaunchError } from '@mcp-host/process'
import type { Separation } from './separation.ts'

/** Numbers that no distribution gives to users, within the 65,536 of a user namespace. */
const USERS = { first: 20_000, count: 20_000 }
/** The groups that mark the processes of one start. */
const GROUPS = { first: 40_000, count: 20_000 }

/**
 * Run by the user of the server. The host itself makes nothing in a folder in which the server could put links. A working
 * folder within a closed one would stay open to relative paths.
 */
const USER_SCRIPT =
  '[ -d "$TMPDIR" ] || mkdir -p "$TMPDIR"; cd "$(pwd -P)" 2>/dev/null || cd; exec "$@"'

/** Gives each server a user of its own, and a home folder that no other user can read. Needs a host that is root. */
export class ServerUsers {
  readonly #setpriv: string
  readonly #homes: string
  #lastGroup = randomInt(GROUPS.count)

  /** `homes`: the absolute path of the folder with the homes, which supervisors of one machine may share. */
  constructor(setpriv: string, homes: string) {
    this.#setpriv = setpriv
    this.#homes = homes
  }

  /** For the next process of a server. Throws `LaunchError` when it can get no home. */
  enter(server: string): Separation {
    try {
      const { uid, home } = this.#homeOf(server)
      this.#lastGroup = (this.#lastGroup + 1) % GROUPS.count
      const group = GROUPS.first + this.#lastGroup
      return {
        prefix: userPrefix(this.#setpriv, uid, group),
        env: { HOME: home, TMPDIR: join(home, 'tmp'), USER: undefined, LOGNAME: undefined },
        tag: groupTag(uid, group),
      }
    } catch (error) {
      if (error instanceof LaunchError) throw error
      throw new LaunchError(`"${server}" can get no home in ${this.#homes}: ${String(error)}`)
    }
  }

  #homeOf(server: string): { readonly uid: number; readonly home: string } {
    const digest = createHash('sha256').update(server).digest()
    for (let attempt = 0; attempt < USERS.count; attempt += 1) {
      const uid = USERS.first + ((digest.readUInt32BE() + attempt) % USERS.count)
      if (this.#isOf(uid, server)) return { uid, home: this.#makeHome(uid) }
    }
    throw new LaunchError(`all users have homes in ${this.#homes}: remove those of former servers`)
  }

  /** Whether the user is that of the server, or was free and is taken for it: by a link, which only one can make. */
  #isOf(uid: number, server: string): boolean {
    const link = join(this.#homes, `${uid}.server`)
    try {
      symlinkSync(server, link)
      return true
    } catch {
      return readlinkSync(link) === server
    }
  }

  #makeHome(uid: number): string {
    const home = join(this.#homes, String(uid))
    mkdirSync(home, { recursive: true, mode: 0o700 })
    chownSync(home, uid, uid)
    return home
  }
}

/** The command line that runs the program behind it as a user with one more group, without any privilege. */
export function userPrefix(setpriv: string, uid: number, group: number): readonly string[] {
  return [
    setpriv,
    `--reuid=${uid}`,
    `--regid=${uid}`,
    `--groups=${group}`,
    '--inh-caps=-all',
    '--no-new-privs',
    '--',
    '/bin/sh',
    '-c',
    USER_SCRIPT,
    'sh',
  ]
}

/** The first user and group, for a probe. */
export function probePrefix(setpriv: string): readonly string[] {
  return userPrefix(setpriv, USERS.first, GROUPS.first)
}
