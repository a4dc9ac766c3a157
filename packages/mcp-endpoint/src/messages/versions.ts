/** The era of a caller's protocol: `modern` from 2026-07-28 on. */
export type Era = 'legacy' | 'modern'

/** The legacy versions, newest first. */
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
]

export const MODERN_VERSIONS: readonly string[] = ['2026-07-28']

/** Versions are dates, so they sort. */
export function isModern(version: string): boolean {
  return version >= '2026-07-28'
}

/** The protocol version for an `initialize`: the client's, if it is supported, else the newest. */
export function negotiated(wanted: unknown): string {
  const [newest = ''] = LEGACY_VERSIONS
  return typeof wanted === 'string' && LEGACY_VERSIONS.includes(wanted) ? wanted : newest
}
