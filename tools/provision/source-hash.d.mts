/** A name for the content of files and of all files in folders, whose paths begin at `root`. Missing ones are left out. */
export function sourceHash(
  root: string,
  paths: readonly string[],
  isSource?: (path: string) => boolean,
): string
