export { testIntake, type TestIntake } from './intake.ts'
export { LEGACY, MemoryEndpoint, MODERN, SILENCE } from './memory-endpoint.ts'
export { openConnection } from './open-connection.ts'
