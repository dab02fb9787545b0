/** The most entries of a map: at about 300 bytes each, 3 MB of an isolate's 128 MB. */
export const MAX_ENTRIES = 10_000

/** A map that keeps the most recently set entries, so that callers cannot make it grow without limit. */
export class RecentMap<Key, Value> extends Map<Key, Value> {
  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > MAX_ENTRIES) {
      const [oldest] = this.keys()
      this.delete(oldest as Key)
    }
    return this
  }
}
