/** Takes the lock file, also from an owner that is dead; else answers with the pid of its owner. */
export function acquireLock(lock: string): number | undefined
