/** How many entries a map keeps: at some 300 bytes each, an isolate spends about 3 MB of its 128 MB on one. */
export const MOST_ENTRIES = 10_000

/** A map that keeps the entries that were set last, so that callers cannot make it grow without limit. */
export class RecentMap<Key, Value> extends Map<Key, Value> {
  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > MOST_ENTRIES) {
      const [oldest] = this.keys()
      this.delete(oldest as Key)
    }
    return this
  }
}
