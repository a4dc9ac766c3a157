export { noClients, nothing } from './no-clients.ts'
export { newSession, readSession, signSession } from './test-sessions.ts'
