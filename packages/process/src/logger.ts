/**
 * The logger that the host needs; a pino logger fits. Every line has the fields `component` and `action`, and where
 * they are known `server`, `tool`, `requestId`, `sessionId` and `correlationId`.
 */
export interface Logger {
  /** Logs heartbeats; without this function they are dropped. */
  trace?(fields: object, message: string): void
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const nothing = (): void => undefined

/** A logger that drops everything. It is the default, since a library must not write to its host's output unasked. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
}

/** A logger that adds `fields` to every line. */
export function bindLogger(logger: Logger, fields: object): Logger {
  return {
    trace: (more, message) => logger.trace?.({ ...fields, ...more }, message),
    debug: (more, message) => logger.debug({ ...fields, ...more }, message),
    info: (more, message) => logger.info({ ...fields, ...more }, message),
    warn: (more, message) => logger.warn({ ...fields, ...more }, message),
    error: (more, message) => logger.error({ ...fields, ...more }, message),
  }
}
