/** Says when a server that keeps ending is started again, and when no more. */
export class Backoff {
  private ends: number[] = [];

  constructor(
    private readonly first = 250,
    private readonly max = 8000,
    private readonly limit = 5,
    private readonly window = 180_000,
  ) {}

  /**
   * Counts an end at a time in milliseconds; returns the milliseconds to wait, or
   * undefined when it ended too often within the window.
   */
  next(now: number): number | undefined {
    this.ends = this.ends.filter((t) => now - t < this.window);
    this.ends.push(now);
    if (this.ends.length > this.limit) {
      return undefined;
    }
    return Math.min(this.max, this.first * 2 ** (this.ends.length - 1));
  }

  /** Forgets what was: the person asked for a start. */
  reset(): void {
    this.ends = [];
  }
}
