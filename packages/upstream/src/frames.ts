export { TokenBucket } from './policies/token-bucket.ts'
export { type Pace, PacedConnection } from './endpoints/paced-frames.ts'
