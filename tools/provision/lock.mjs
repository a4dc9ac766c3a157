import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { processStart } from './process-start.mjs'

const pollMs = 100

/** Runs `work` while holding the lock file; `onWait` is called once if another process holds it. */
export async function withLock(lock, work, onWait = () => {}) {
  let hasWaited = false
  while (acquireLock(lock) !== undefined) {
    if (!hasWaited) onWait()
    hasWaited = true
    await sleep(pollMs)
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Takes the lock file, also from an owner that is dead; else answers with the pid of its owner. */
export function acquireLock(lock) {
  while (!tryAcquire(lock)) {
    const owner = ownerOf(lock)
    if (owner !== undefined) return owner
    breakLock(lock)
  }
  return undefined
}

/** A link appears with its content, so nobody ever sees a lock without an owner. */
function tryAcquire(lock) {
  const claim = `${lock}.${process.pid}`
  try {
    // The pid alone may be that of another process later.
    writeFileSync(claim, [process.pid, processStart(process.pid) ?? ''].join(' ').trim())
    linkSync(claim, lock)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(claim, { force: true })
  }
}

/** The living process that holds the lock. */
function ownerOf(lock) {
  const { pid, start } = readOwner(lock)
  if (!(pid > 0)) return undefined
  try {
    process.kill(pid, 0)
  } catch (error) {
    return error.code === 'ESRCH' ? undefined : pid
  }
  const present = processStart(pid)
  if (present === undefined) return pid
  // Without a start it was written by an earlier version, so not by this process.
  const isAnother = start === undefined ? pid === process.pid : start !== present
  return isAnother ? undefined : pid
}

function readOwner(lock) {
  try {
    const [pid, start] = readFileSync(lock, 'utf8').trim().split(' ')
    return { pid: Number(pid), start }
  } catch (error) {
    if (error.code === 'ENOENT') return {}
    throw error
  }
}

function breakLock(lock) {
  const aside = `${lock}.broken-by-${process.pid}`
  try {
    renameSync(lock, aside)
    // Another process may have broken it first and locked it anew: then this took a living lock, and gives it back.
    if (ownerOf(aside) !== undefined) linkSync(aside, lock)
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error
  } finally {
    rmSync(aside, { force: true })
  }
}
