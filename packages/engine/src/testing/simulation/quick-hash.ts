/**
 * A hash with the shape of SHA-256, for simulated worlds: 64 hex digits that change with every byte. Nobody there forges
 * files, and making a real hasher for each small file and id would be a tenth of a run.
 */

interface Hasher {
  update(bytes: Uint8Array): void;
  digestHex(): string;
}

export function quickHasher(): Hasher {
  let [first, second, count] = [0x9e3779b9, 0x85ebca6b, 0];
  return {
    update(bytes) {
      for (let i = 0; i < bytes.length; i++) {
        first = Math.imul(first ^ bytes[i]!, 0x01000193);
        second = Math.imul(((second << 5) | (second >>> 27)) ^ bytes[i]!, 0x27220a95);
      }
      count += bytes.length;
    },
    digestHex() {
      let digest = '';
      for (let word = 0; word < 8; word++) {
        const mixed = Math.imul(first ^ (second >>> word) ^ (count + word), 0x2c1b3c6d + 2 * word);
        digest += ((mixed ^ (mixed >>> 15)) >>> 0).toString(16).padStart(8, '0');
      }
      return digest;
    },
  };
}
