import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 100

/** Runs `work` while holding the lock file; `onWait` is called once if another process holds it. */
export async function withLock(lock, work, onWait = () => {}) {
  let hasWaited = false
  while (!tryAcquire(lock)) {
    if (isAbandoned(lock)) {
      breakLock(lock)
      continue
    }
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

/** A link appears with its content, so nobody ever sees a lock without an owner. */
function tryAcquire(lock) {
  const claim = `${lock}.${process.pid}`
  writeFileSync(claim, String(process.pid))
  try {
    linkSync(claim, lock)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(claim, { force: true })
  }
}

function isAbandoned(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

function breakLock(lock) {
  const aside = `${lock}.broken-by-${process.pid}`
  try {
    renameSync(lock, aside)
    // Another process may have broken it first and locked it anew: then this took a living lock, and gives it back.
    if (!isAbandoned(aside)) linkSync(aside, lock)
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error
  } finally {
    rmSync(aside, { force: true })
  }
}
