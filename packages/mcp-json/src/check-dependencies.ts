/** A server with the names that it depends on. */
export interface Dependent {
  readonly name: string
  readonly dependencies: readonly string[]
}

export interface DependencyFault {
  /** The name of the faulty server, and the index in its `dependencies`. */
  readonly name: string
  readonly index: number
  readonly message: string
  readonly remedy: string
}

/**
 * Finds unknown names, repeated names and cycles. `disabled`: servers that exist but do not run. The messages do not
 * contain a wrong name, since it may be the value of a variable.
 */
export function checkDependencies(
  servers: readonly Dependent[],
  disabled: readonly string[] = [],
): readonly DependencyFault[] {
  const names = servers.map(({ name }) => name)
  const faults = servers.flatMap(({ name, dependencies }) =>
    dependencies.flatMap((dependency, index): DependencyFault[] => {
      const fault = (message: string, remedy: string) => [{ name, index, message, remedy }]
      if (dependency === name) return fault('is the server itself', 'Remove it.')
      if (disabled.includes(dependency)) {
        return fault('is a disabled server', 'Enable that server, or remove this dependency.')
      }
      if (!names.includes(dependency)) {
        const others = names.filter((other) => other !== name).join(', ')
        const choice = others === '' ? '' : `, or use one of ${others}`
        return fault('is not the name of a server', `Remove it${choice}.`)
      }
      if (dependencies.indexOf(dependency) < index) return fault('is there twice', 'Remove one.')
      return []
    }),
  )
  return [...faults, ...findCycles(servers)]
}

/** One fault for each dependency that closes a cycle, found from the first server on. */
function findCycles(servers: readonly Dependent[]): readonly DependencyFault[] {
  const byName = new Map(servers.map((server) => [server.name, server.dependencies]))
  const done = new Set<string>()
  const faults: DependencyFault[] = []
  const visit = (name: string, path: readonly string[]): void => {
    const trail = [...path, name]
    for (const [index, dependency] of (byName.get(name) ?? []).entries()) {
      if (dependency === name || done.has(dependency)) continue
      const start = trail.indexOf(dependency)
      if (start === -1) {
        visit(dependency, trail)
        continue
      }
      const cycle = [...trail.slice(start), dependency].join(' → ')
      const remedy = 'Remove one of these dependencies.'
      faults.push({ name, index, message: `closes the cycle ${cycle}`, remedy })
    }
    done.add(name)
  }
  for (const { name } of servers) if (!done.has(name)) visit(name, [])
  return faults
}
