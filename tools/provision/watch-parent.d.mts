/** Calls `onGone` once when the package manager that runs this process has ended. */
export function watchParent(onGone: () => void): void
