import { existsSync } from 'node:fs'

import { ComparedPlace } from './compared-place.ts'
import { DescriptorPlace } from './descriptor-place.ts'
import { FileError, toFileError } from './file-error.ts'
import {
  checkRoots,
  DEFAULT_LIMITS,
  type FilesLimits,
  type FilesOptions,
  type FilesRoot,
} from './files-options.ts'
import { OperationGate } from '../../operation-gate.ts'
import { parsePath, type RootedPath } from './parse-path.ts'
import type { Place } from './place.ts'

/** How entries are reached: by descriptors where the system has paths that begin with one. */
export type Walk = 'descriptors' | 'comparison'

/** The roots, and the only way to the entries below them. */
export class FileTree {
  readonly roots: readonly FilesRoot[]
  readonly limits: FilesLimits
  readonly #gate: OperationGate
  readonly #walk: Walk

  constructor({ roots, limits }: FilesOptions, walk = bestWalk()) {
    this.roots = checkRoots(roots)
    this.limits = { ...DEFAULT_LIMITS, ...limits }
    this.#gate = new OperationGate(this.limits.maxConcurrent, this.limits.maxWaiting)
    this.#walk = walk
  }

  parse(path: string): RootedPath {
    return parsePath(this.roots, path, this.limits.maxDepth)
  }

  /**
   * Runs an operation on an entry. Its errors name the path as it was given. What the operation opens belongs on the stack,
   * which is disposed at the end.
   */
  use<Result>(
    path: string,
    signal: AbortSignal,
    operation: (path: RootedPath, stack: AsyncDisposableStack) => Promise<Result>,
  ): Promise<Result> {
    return this.#gate.run(signal, async () => {
      await using stack = new AsyncDisposableStack()
      try {
        return await operation(this.parse(path), stack)
      } catch (error) {
        throw toFileError(error, path)
      }
    })
  }

  /** The place of a path, reached part by part. The descriptors of its folders are kept with it. */
  async open(path: RootedPath, stack: AsyncDisposableStack): Promise<Place> {
    let place = stack.use(await this.#openRoot(path.root))
    for (const part of path.parts) place = await this.enter(place, part, path.given, stack)
    refuseLink(place, path.given)
    return place
  }

  /** The place of an entry of a folder. */
  async enter(
    folder: Place,
    name: string,
    given: string,
    stack: AsyncDisposableStack,
  ): Promise<Place> {
    this.checkFolder(folder, given)
    return stack.use(await folder.child(name))
  }

  checkFolder(place: Place, given: string): void {
    refuseLink(place, given)
    if (place.stats.isDirectory()) return
    throw new FileError(given, 'it, or a part of it, is not a folder; fs_info shows its type')
  }

  #openRoot({ path }: FilesRoot): Promise<Place> {
    const places = this.#walk === 'descriptors' ? DescriptorPlace : ComparedPlace
    return places.openRoot(path)
  }
}

function refuseLink({ stats }: Place, given: string): void {
  if (!stats.isSymbolicLink()) return
  const remedy = 'use the path of its target, if that lies below a root'
  throw new FileError(given, `is or crosses a symbolic link, and links are not followed; ${remedy}`)
}

function bestWalk(): Walk {
  const hasDescriptorPaths = process.platform === 'linux' && existsSync('/proc/self/fd')
  return hasDescriptorPaths ? 'descriptors' : 'comparison'
}
