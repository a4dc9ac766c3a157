import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'

import type { Mounts } from './protect-paths.ts'

/** Signals that end a process in an orderly way. */
const ORDERLY_SIGNALS = ['TERM', 'INT', 'HUP']

/** Devices for graphics, sound, virtual machines and file systems. Terminals of others are not among them. */
const DEVICES = /^(dri|fuse|kvm|snd|nvidia.*|video\d+)$/

/** What a program in a sandbox sees and reaches. */
export interface View {
  readonly mounts: Mounts
  readonly network: boolean
  /** The only paths that the program can change, beside a `/tmp` of its own; undefined: all. */
  readonly roots: readonly string[] | undefined
}

/**
 * The command line that runs the program behind it in namespaces of its own. It sees no other processes, and the whole
 * file system except the hidden paths. The namespaces end with their first process, so no descendant survives.
 *
 * A signal to the process group also reaches the two processes of bwrap, which must not end before the program. They
 * inherit ignored signals; `env` makes the program react to them again.
 */
export function bwrapPrefix(bwrap: string, view: View): readonly string[] {
  const { network, roots, mounts } = view
  const { hiddenFolders, hiddenFiles, writable } = mounts
  // Outside of roots all is read-only already.
  const isOpen = (path: string): boolean => roots === undefined || isIn(path, roots)
  const fixed = mounts.fixed.filter(isOpen)
  const readOnly = mounts.readOnly.filter(isOpen)
  return [
    ...words('/bin/sh', '-c', `trap '' ${ORDERLY_SIGNALS.join(' ')}; exec "$@"`, 'sh'),
    bwrap,
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    ...(network ? [] : ['--unshare-net']),
    // Started by root, bwrap would leave the program the right to unmount.
    ...words('--cap-drop', 'ALL'),
    ...words(roots === undefined ? '--bind' : '--ro-bind', '/', '/'),
    ...(roots === undefined ? [] : onlyRoots(roots)),
    ...words('--proc', '/proc'),
    ...words('--dev', '/dev'),
    ...devices().flatMap((path) => words('--dev-bind', path, path)),
    ...fixed.flatMap((path) => words('--bind', path, path)),
    ...readOnly.flatMap((path) => words('--ro-bind', path, path)),
    ...(roots === undefined ? writable.flatMap((path) => words('--bind', path, path)) : []),
    ...hiddenFolders.flatMap((path) => [...words('--tmpfs', path), ...words('--remount-ro', path)]),
    ...hiddenFiles.flatMap((path) => words('--ro-bind', '/dev/null', path)),
    '--',
    ...words('/usr/bin/env', `--default-signal=${ORDERLY_SIGNALS.join()}`),
    // `env` takes a path with "=" for a variable.
    ...words('/bin/sh', '-c', 'exec "$@"', 'sh'),
  ]
}

function onlyRoots(roots: readonly string[]): readonly string[] {
  return [...words('--tmpfs', '/tmp'), ...roots.flatMap((path) => words('--bind', path, path))]
}

function devices(): readonly string[] {
  return readdirSync('/dev')
    .filter((name) => DEVICES.test(name))
    .map((name) => join('/dev', name))
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(folder + sep))
}

/** Keeps the words of an option on one line. */
function words(...each: readonly string[]): readonly string[] {
  return each
}
