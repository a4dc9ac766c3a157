/** Where downloads are kept between runs. */
export function cacheFolder(): string

/** Where Node keeps the code that it has compiled, so that the next start need not load what strips its types. */
export function compileCacheFolder(): string

/** Fills `folder` once: a folder that exists is complete. */
export function installOnce(folder: string, fill: (draft: string) => Promise<void>): Promise<void>
