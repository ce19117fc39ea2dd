package jobs

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"testing"
)

// A node makes one picture of a card at a time. One that waits is made when its turn comes, or is
// left to another try: the wait never counts as a fault of the picture.
func TestCardsAreMadeOneAtATime(t *testing.T) {
	t.Parallel()
	var upload bytes.Buffer
	if err := png.Encode(&upload, image.NewRGBA(image.Rect(0, 0, 20, 10))); err != nil {
		t.Fatal(err)
	}
	j := &Jobs{making: make(chan struct{}, 1)}
	j.making <- struct{}{} // another one is being made
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.card(ended, upload.Bytes()); !errors.Is(err, context.Canceled) {
		t.Errorf("while another one is made: got %v, want %v", err, context.Canceled)
	}
	made := make(chan error, 1)
	go func() {
		_, err := j.card(t.Context(), upload.Bytes())
		made <- err
	}()
	<-j.making
	if err := <-made; err != nil {
		t.Errorf("when the other one is made: %v", err)
	}
	if len(j.making) != 0 {
		t.Error("the turn was not given back")
	}
}
