/** Where Node keeps the code that it has compiled, so that the next start need not load what strips its types. */
export function compileCacheFolder(): string
