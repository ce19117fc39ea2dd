// later.js names the time zone of the browser beside the time at which a post is to be published.
// river.js loads it when somebody opens that.

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

for (const input of document.querySelectorAll('[data-src] [name=zone]')) {
  // The default is what the form has again once it was sent.
  if (timeZone && input.value === input.defaultValue) input.value = input.defaultValue = timeZone;
}
