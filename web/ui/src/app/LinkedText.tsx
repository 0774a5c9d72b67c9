/** Text with links for plain web addresses. Everything else stays text. */
export function LinkedText({ text }: { text: string }) {
  return text.split(/(https?:\/\/[^\s"'<>()[\]]*[^\s"'<>()[\].,;:])/).map((part, i) =>
    i % 2 === 1 ? (
      <a key={i} href={part} target="_blank" rel="noopener noreferrer">
        {part}
      </a>
    ) : (
      part
    ),
  );
}
