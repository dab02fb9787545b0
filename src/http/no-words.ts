/** In the Worker (see words.ts). Calls of an empty function are left out of the bundle, with what they are given. */
export function words<Words>(value: Words): Words
export function words(): undefined {}
