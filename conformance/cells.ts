/** The requirement sets of the suite, by protocol revision. */
export const REQUIREMENTS = ['2025-11-25', '2026-07-28'] as const
export type Requirements = (typeof REQUIREMENTS)[number]

/** The target of the suite: the fixture itself, or gateways with the fixture as their server. */
export type Target =
  | { readonly kind: 'direct' }
  | {
      readonly kind: 'gateway'
      /** The transport and the era between the supervisor and the fixture. */
      readonly transport: 'stdio' | 'http'
      readonly era: 'legacy' | 'modern'
      /** With several, requests go to the gateways in turn. */
      readonly gateways: 1 | 2
    }

export interface Cell {
  readonly requirements: Requirements
  readonly target: Target
}

const gatewayTargets: readonly Target[] = (['stdio', 'http'] as const).flatMap((transport) =>
  (['legacy', 'modern'] as const).flatMap((era) =>
    ([1, 2] as const).map((gateways) => ({ kind: 'gateway' as const, transport, era, gateways })),
  ),
)

export const TARGETS: readonly Target[] = [{ kind: 'direct' }, ...gatewayTargets]

export const CELLS: readonly Cell[] = TARGETS.flatMap((target) =>
  REQUIREMENTS.map((requirements) => ({ requirements, target })),
)

/** The words that select a target on the command line. */
export function wordsOfTarget(target: Target): string[] {
  if (target.kind === 'direct') return ['direct']
  return ['gateway', target.transport, target.era, `x${target.gateways}`]
}

export function nameOfTarget(target: Target): string {
  return wordsOfTarget(target).join(' ')
}

export function wordsOfCell({ requirements, target }: Cell): string[] {
  return [requirements, ...wordsOfTarget(target)]
}

export function nameOfCell(cell: Cell): string {
  return wordsOfCell(cell).join(' ')
}
