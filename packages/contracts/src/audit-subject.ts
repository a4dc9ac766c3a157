const AUDIT = 'audit'

/**
 * The subjects of the audit log: `audit.{service}.{process}`, one for each process that writes. Their messages are
 * entries of `packages/audit`, one a line.
 */
export const ALL_AUDIT = `${AUDIT}.>`

/** The subjects of all processes of a service. */
export function auditSubjectsOf(service: string): string {
  return `${AUDIT}.${service}.*`
}

/** `writer`: the id of a process on the bus, which is the name of its service, a dash and a unique part. */
export function auditSubject(writer: string): string {
  const end = writer.lastIndexOf('-')
  const tokens = end === -1 ? [writer] : [writer.slice(0, end), writer.slice(end + 1)]
  if (!tokens.every((token) => /^[\w-]+$/.test(token))) throw new TypeError(`no writer: ${writer}`)
  return [AUDIT, ...tokens].join('.')
}

/** The writer of a message of the audit log. */
export function auditWriter(subject: string): string {
  return subject.split('.').slice(1).join('-')
}
